"""Study of pooling and evaluation depth (Lu, Moffat and Culpepper 2016)."""
