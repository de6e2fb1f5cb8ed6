"""Texts that talk to the judge, and how often they change its verdicts.

bases.py     questions with a clear answer, and which verdict an attacker would want
attacks.py   what an attacker adds to a text, and for each a harmless text of the same length
flips.py     asks a judge and counts: python -m tests.injection.flips JUDGE
"""
