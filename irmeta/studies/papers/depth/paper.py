"""Numbers printed in the paper."""

from __future__ import annotations

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The effect of pooling and evaluation depth on IR metrics, "
    "doi:10.1007/s10791-016-9282-6"
)
