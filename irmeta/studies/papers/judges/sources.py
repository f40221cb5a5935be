"""Sources of the methods of the study, which has no paper of its own."""

from __future__ import annotations

SOURCES = (
    "Rankings of systems by other assessors: Voorhees (1998), Variations in relevance judgments "
    "and the measurement of retrieval effectiveness, SIGIR; extended in Information Processing and "
    "Management 36 (2000), 697-716.",
    "Judges that are language models: Faggioli et al. (2023), Perspectives on large language "
    "models for relevance judgment, doi:10.1145/3578337.3605136; Rahmani et al. (2024), LLMJudge, "
    "arXiv:2408.08896; Rahmani et al. (2025), Judging the judges, arXiv:2502.13908.",
    "What a high correlation hides (the best systems, circular judges, significant differences): "
    "Clarke and Dietz (2024), arXiv:2412.17156; Otero, Parapar and Barreiro (2025), "
    "doi:10.1145/3726302.3730221.",
    "People's labels of some queries, a judge's of all: Angelopoulos et al. (2023), "
    "Prediction-powered inference, doi:10.1126/science.adi6000; Angelopoulos, Duchi and Zrnic "
    "(2023), PPI++, arXiv:2311.01453; for rankings Oosterhuis et al. (2024), arXiv:2407.02464.",
)
