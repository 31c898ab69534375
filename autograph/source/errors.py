"""The errors of this project; they live beside the runtime, which works without the transpiler."""

from autograph.runtime.errors.errors import (
    AutographError as AutographError,
)
from autograph.runtime.errors.errors import (
    ConversionError as ConversionError,
)
from autograph.runtime.errors.errors import (
    NotAFunction as NotAFunction,
)
from autograph.runtime.errors.errors import (
    SourceSpan as SourceSpan,
)
from autograph.runtime.errors.errors import (
    SourceUnavailable as SourceUnavailable,
)
from autograph.runtime.errors.errors import (
    WrappedFunction as WrappedFunction,
)
