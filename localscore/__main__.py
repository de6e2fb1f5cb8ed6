"""`python -m localscore`."""

from localscore.cli import main

main()
