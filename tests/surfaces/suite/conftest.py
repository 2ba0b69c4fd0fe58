"""The suite is no test module, but what it asserts is explained like in one."""

import pytest

pytest.register_assert_rewrite("surfaces.suite.scenarios")
