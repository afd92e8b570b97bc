"""The benchmarks of ``scripts/bench.py``, one module each with ``main(argv) -> exit code``."""
