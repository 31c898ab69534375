"""`ag.layers`: the layers, by their names in Keras (https://keras.io/api/layers)."""

from autograph.runtime.networks.convolutions import AveragePooling2D as AveragePooling2D
from autograph.runtime.networks.convolutions import Conv2D as Conv2D
from autograph.runtime.networks.convolutions import GlobalAveragePooling2D as GlobalAveragePooling2D
from autograph.runtime.networks.convolutions import GlobalMaxPooling2D as GlobalMaxPooling2D
from autograph.runtime.networks.convolutions import MaxPooling2D as MaxPooling2D
from autograph.runtime.networks.dense import Activation as Activation
from autograph.runtime.networks.dense import Dense as Dense
from autograph.runtime.networks.dense import Dropout as Dropout
from autograph.runtime.networks.dense import Embedding as Embedding
from autograph.runtime.networks.dense import Flatten as Flatten
from autograph.runtime.networks.dense import Reshape as Reshape
from autograph.runtime.networks.layer import Layer as Layer
from autograph.runtime.networks.models import Model as Model
from autograph.runtime.networks.models import Sequential as Sequential
from autograph.runtime.networks.normalization import BatchNormalization as BatchNormalization
from autograph.runtime.networks.normalization import LayerNormalization as LayerNormalization
from autograph.runtime.networks.recurrent import GRU as GRU
from autograph.runtime.networks.recurrent import LSTM as LSTM
from autograph.runtime.networks.recurrent import RNN as RNN
from autograph.runtime.networks.recurrent import Cell as Cell
from autograph.runtime.networks.recurrent import GRUCell as GRUCell
from autograph.runtime.networks.recurrent import LSTMCell as LSTMCell
from autograph.runtime.networks.recurrent import SimpleRNN as SimpleRNN
from autograph.runtime.networks.recurrent import SimpleRNNCell as SimpleRNNCell
