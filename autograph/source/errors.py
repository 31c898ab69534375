"""The errors of this project; they live beside the runtime, which works without the transpiler."""

from autograph.runtime.messages.errors import (
    AutographError as AutographError,
)
from autograph.runtime.messages.errors import (
    ConversionError as ConversionError,
)
from autograph.runtime.messages.errors import (
    NotAFunction as NotAFunction,
)
from autograph.runtime.messages.errors import (
    Place as Place,
)
from autograph.runtime.messages.errors import (
    SourceUnavailable as SourceUnavailable,
)
from autograph.runtime.messages.errors import (
    WrappedFunction as WrappedFunction,
)
