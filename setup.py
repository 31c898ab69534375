"""Which packages there are: `runtime/` stands beside `autograph/` and is installed in it, and the pages of errors come along."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["autograph", "autograph.*"], exclude=["autograph.runtime*", "autograph.pages"]),
        *("autograph.runtime", *(f"autograph.runtime.{name}" for name in find_packages("runtime"))),
        "autograph.pages",
    ],
    package_dir={"autograph.runtime": "runtime", "autograph.pages": "docs/errors"},
)
