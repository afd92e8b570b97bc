"""Exit codes of the program; those of errors are with the errors (:mod:`lancebrain.errors`).

0    done
1    an error: told on stderr with what to do next
2    the command line, a reference or the configuration is wrong
3    done, but there were problems with some files or checks, which are listed
10   there is no index yet
11   another process holds the index
130  stopped by Ctrl-C
"""

ERROR = 1
PROBLEMS = 3
INTERRUPTED = 130
