"""Parts of the project together, in one process."""

import pytest

pytest.register_assert_rewrite("tests.integration.journeys", "tests.integration.watched")
