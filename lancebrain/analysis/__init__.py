"""The index as data: tables, vectors, SQL, and ready analyses of one version.

No model is loaded, and what is computed for 100,000 chunks takes seconds.
"""
