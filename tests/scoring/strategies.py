"""What the property tests of the scoring core draw from."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

many = settings(max_examples=200, deadline=None)

scales = st.sampled_from([0, 0.001, 0.999, 1, 3, 10, 100, 1e300]) | st.floats(0, allow_infinity=False)
yes_or_no = st.lists(st.booleans(), min_size=1, max_size=30)
