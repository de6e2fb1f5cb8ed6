"""Results as tables and pages for people. Nothing here asks a judge or a network.

    table.py           a run in a terminal
    agreement.py       an agreement in a terminal
    run_page.py        a run as one HTML file
    agreement_page.py  an agreement as one HTML file
    exports.py         a run as CSV, Markdown, Parquet
    pages.py           html/ (templates, style, scripts) → a file that is complete in itself

What a page of a run shows comes from pure functions:

    figures.py         of all samples together
    differences.py     beside a baseline
    close_calls.py     the verdicts nearest to a coin toss
    stories.py         of each sample, as JSON for the page's script
    provenance.py      judge, card, agreement, manifest
"""
