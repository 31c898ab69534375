"""The errors of this project; they live beside the runtime, which works without the transpiler."""

from autograph.runtime.errors import (
    AutographError as AutographError,
)
from autograph.runtime.errors import (
    ConversionError as ConversionError,
)
from autograph.runtime.errors import (
    NotAFunction as NotAFunction,
)
from autograph.runtime.errors import (
    Place as Place,
)
from autograph.runtime.errors import (
    SourceUnavailable as SourceUnavailable,
)
from autograph.runtime.errors import (
    WrappedFunction as WrappedFunction,
)
