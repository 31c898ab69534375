"""TensorFlow's tutorial "Time series forecasting": tensorflow.org/tutorials/structured_data/time_series."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import LayerError

Frame = dict[str, Any]  # columns by their names, in the place of a DataFrame of pandas
MAX_EPOCHS = 3  # 20 on the page
DAY = 24 * 60 * 60
YEAR = 365.2425 * DAY
COLUMNS = [
    "p (mbar)", "T (degC)", "Tpot (K)", "Tdew (degC)", "rh (%)", "VPmax (mbar)", "VPact (mbar)", "VPdef (mbar)", "sh (g/kg)", "H2OC (mmol/mol)",
    "rho (g/m**3)", "wv (m/s)", "max. wv (m/s)", "wd (deg)",
]  # fmt: skip


def weather() -> tuple[Frame, Any]:
    """In the place of the file of the weather: the same columns, every ten minutes of 25 days, with a day and noise in them."""
    rng = np.random.default_rng(0)
    seconds = 1230768000 + 600 * np.arange(3600)
    wave = np.sin(2 * np.pi * seconds / DAY)
    df = {name: 10 * k + (k % 4 + 1) * wave + 0.1 * rng.normal(size=3600) for k, name in enumerate(COLUMNS[:11], 1)}
    df["wv (m/s)"] = rng.uniform(0.1, 5, 3600)
    df["max. wv (m/s)"] = df["wv (m/s)"] + rng.uniform(0, 3, 3600)
    df["wd (deg)"] = rng.uniform(0, 360, 3600)
    df["wv (m/s)"][[77, 605]] = -9999.0
    df["max. wv (m/s)"][605] = -9999.0
    return df, seconds


def hourly(df: Frame, seconds: Any) -> tuple[Frame, Any]:
    """From index 5 on every sixth row."""
    return {name: x[5::6].copy() for name, x in df.items()}, seconds[5::6]


def cleaned(df: Frame) -> Frame:
    df["wv (m/s)"][df["wv (m/s)"] == -9999.0] = 0.0
    df["max. wv (m/s)"][df["max. wv (m/s)"] == -9999.0] = 0.0
    return df


def with_features(df: Frame, timestamp_s: Any) -> Frame:
    """Wind as a vector, and the time as waves of a day and of a year."""
    wv, max_wv, wd_rad = df.pop("wv (m/s)"), df.pop("max. wv (m/s)"), df.pop("wd (deg)") * np.pi / 180
    df["Wx"], df["Wy"] = wv * np.cos(wd_rad), wv * np.sin(wd_rad)
    df["max Wx"], df["max Wy"] = max_wv * np.cos(wd_rad), max_wv * np.sin(wd_rad)
    for name, period in (("Day", DAY), ("Year", YEAR)):
        df[f"{name} sin"] = np.sin(timestamp_s * (2 * np.pi / period))
        df[f"{name} cos"] = np.cos(timestamp_s * (2 * np.pi / period))
    return df


def split(df: Frame) -> tuple[Frame, Frame, Frame]:
    """70 %, 20 % and 10 %, as they follow in time, normalised by the mean and standard deviation of the first."""
    n = len(df["T (degC)"])
    parts = [{name: x[a:b] for name, x in df.items()} for a, b in [(0, int(n * 0.7)), (int(n * 0.7), int(n * 0.9)), (int(n * 0.9), n)]]
    mean = {name: x.mean() for name, x in parts[0].items()}
    std = {name: x.std(ddof=1) for name, x in parts[0].items()}
    train_df, val_df, test_df = ({name: (x - mean[name]) / std[name] for name, x in part.items()} for part in parts)
    return train_df, val_df, test_df


train_df, val_df, test_df = split(with_features(cleaned(hourly(*weather())[0]), hourly(*weather())[1]))
column_indices = {name: i for i, name in enumerate(train_df)}
num_features = len(train_df)


def timeseries_dataset_from_array(data: Any, sequence_length: int, shuffle: bool, batch_size: int) -> ag.data.Dataset:
    """As tf.keras.utils.timeseries_dataset_from_array, which is not here: windows of rows, one step apart, in batches."""
    windows = np.lib.stride_tricks.sliding_window_view(data, sequence_length, axis=0).swapaxes(1, 2)
    rows = ag.data.Dataset.from_tensor_slices(windows)
    return (rows.shuffle(len(windows)) if shuffle else rows).batch(batch_size)


class WindowGenerator:
    def __init__(self, input_width: int, label_width: int, shift: int, label_columns: list[str] | None = None) -> None:
        self.train_df, self.val_df, self.test_df = train_df, val_df, test_df
        # which columns are labels
        self.label_columns = label_columns
        if label_columns is not None:
            self.label_columns_indices = {name: i for i, name in enumerate(label_columns)}
        self.column_indices = {name: i for i, name in enumerate(train_df)}
        # which steps are inputs, and which are labels
        self.input_width, self.label_width, self.shift = input_width, label_width, shift
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.input_indices = np.arange(self.total_window_size)[self.input_slice]
        self.label_start = self.total_window_size - self.label_width
        self.labels_slice = slice(self.label_start, None)
        self.label_indices = np.arange(self.total_window_size)[self.labels_slice]

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"Total window size: {self.total_window_size}",
                f"Input indices: {self.input_indices}",
                f"Label indices: {self.label_indices}",
                f"Label column name(s): {self.label_columns}",
            ]
        )

    def split_window(self, features: Any) -> tuple[Any, Any]:
        inputs = features[:, self.input_slice, :]
        labels = features[:, self.labels_slice, :]
        if self.label_columns is not None:
            labels = jnp.stack([labels[:, :, self.column_indices[name]] for name in self.label_columns], axis=-1)
        # shapes are known here, nothing is to set
        return inputs, labels

    def make_dataset(self, data: Frame) -> ag.data.Dataset:
        array = np.stack([data[name] for name in data], axis=1).astype(np.float32)
        ds = timeseries_dataset_from_array(array, self.total_window_size, shuffle=True, batch_size=32)
        return ds.map(self.split_window)

    # made once and kept, other than on the page: what a dataset computes is compiled for each that is made
    @cached_property
    def train(self) -> ag.data.Dataset:
        return self.make_dataset(self.train_df)

    @cached_property
    def val(self) -> ag.data.Dataset:
        return self.make_dataset(self.val_df).cache()

    @cached_property
    def test(self) -> ag.data.Dataset:
        return self.make_dataset(self.test_df).cache()

    @cached_property
    def example(self) -> tuple[Any, Any]:
        return next(iter(self.train))


@cache
def window(input_width: int, label_width: int, shift: int) -> WindowGenerator:
    """Of the temperature."""
    return WindowGenerator(input_width, label_width, shift, label_columns=["T (degC)"])


@cache
def window_of_all(input_width: int, label_width: int, shift: int) -> WindowGenerator:
    """`WindowGenerator` gives all columns as labels where none are named."""
    return WindowGenerator(input_width, label_width, shift)


def compile_and_fit(model: Any, train: ag.data.Dataset, val: ag.data.Dataset, patience: int = 2) -> Any:
    early_stopping = ag.callbacks.EarlyStopping(monitor="val_loss", patience=patience, mode="min")
    model.compile(
        loss=ag.losses.MeanSquaredError(),
        optimizer=ag.optimizers.Adam(),
        metrics=[ag.metrics.MeanAbsoluteError()],
    )
    return model.fit(train, epochs=MAX_EPOCHS, validation_data=val, callbacks=[early_stopping], verbose=0)


def compiled(model: Any) -> Any:
    model.compile(loss=ag.losses.MeanSquaredError(), metrics=[ag.metrics.MeanAbsoluteError()])
    return model


def measured(predict: Callable[[Any], Any], ds: ag.data.Dataset) -> dict[str, float]:
    """What `evaluate` is to give: the mean of the squares and of the absolute values over all items, in NumPy."""
    rest = np.concatenate([np.ravel(np.asarray(predict(x), np.float64) - np.asarray(y)) for x, y in ds])
    return {"loss": (rest**2).mean(), "mean_absolute_error": np.abs(rest).mean()}


def check_trained(model: Any, window: WindowGenerator) -> None:
    """Train it: the loss falls, and `evaluate` gives what the model's own predictions give."""
    train, val = window.train.take(8).cache(), window.val.take(2).cache()  # batches of one size compile sooner than with a smaller one
    history = compile_and_fit(model, train, val)
    assert sorted(history.history) == ["loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"]
    assert 2 <= len(history.epoch) <= MAX_EPOCHS
    assert history.history["loss"][-1] < history.history["loss"][0]
    val_performance = model.evaluate(val, return_dict=True)
    assert val_performance == pytest.approx(measured(model, val), rel=1e-3)


def check_evaluated(model: Any, window: WindowGenerator) -> None:
    """Of models that differ from a trained one in their layers alone, what `evaluate` gives."""
    val = window.val.take(2).cache()
    assert compiled(model).evaluate(val, return_dict=True) == pytest.approx(measured(model, val), rel=1e-3)


# the weather, its features and their split


def test_hourly_rows() -> None:
    df, seconds = weather()
    rows, date_time = hourly(df, seconds)
    assert [*rows] == COLUMNS and len(rows["p (mbar)"]) == 600
    assert set(np.diff(date_time)) == {3600}
    assert rows["T (degC)"][1] == df["T (degC)"][11]


def test_wrong_winds_are_zero() -> None:
    df, _ = hourly(*weather())
    assert df["wv (m/s)"].min() == df["max. wv (m/s)"].min() == -9999.0
    df = cleaned(df)
    assert df["wv (m/s)"].min() == df["max. wv (m/s)"].min() == 0.0


def test_wind_and_time_as_waves() -> None:
    df = with_features(cleaned(hourly(*weather())[0]), hourly(*weather())[1])
    assert [*df][-8:] == ["Wx", "Wy", "max Wx", "max Wy", "Day sin", "Day cos", "Year sin", "Year cos"]
    raw = cleaned(hourly(*weather())[0])
    np.testing.assert_allclose(df["Wx"] ** 2 + df["Wy"] ** 2, raw["wv (m/s)"] ** 2, rtol=1e-9)
    np.testing.assert_allclose(df["Day sin"][:24], df["Day sin"][24:48], atol=1e-6)


def test_the_frequencies() -> None:
    # the largest but the mean is that of a day: 25 turns in 25 days
    df, _ = hourly(*weather())
    fft = jnp.fft.rfft(jnp.asarray(df["T (degC)"], jnp.float32))
    assert fft.shape == (301,)
    assert int(jnp.argmax(jnp.abs(fft)[1:])) + 1 == 25


def test_the_split_and_the_scale() -> None:
    assert [len(df["T (degC)"]) for df in (train_df, val_df, test_df)] == [420, 120, 60]
    assert num_features == 19 and column_indices["T (degC)"] == 1
    np.testing.assert_allclose([x.mean() for x in train_df.values()], 0, atol=1e-9)
    np.testing.assert_allclose([x.std(ddof=1) for x in train_df.values()], 1, rtol=1e-9)


# windows


def test_indexes_and_offsets() -> None:
    w1 = window(input_width=24, label_width=1, shift=24)
    assert repr(w1).splitlines() == [
        "Total window size: 48",
        "Input indices: [ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23]",
        "Label indices: [47]",
        "Label column name(s): ['T (degC)']",
    ]
    w2 = window(input_width=6, label_width=1, shift=1)
    assert repr(w2).splitlines() == [
        "Total window size: 7",
        "Input indices: [0 1 2 3 4 5]",
        "Label indices: [6]",
        "Label column name(s): ['T (degC)']",
    ]


def test_a_window_is_split() -> None:
    w2 = window(input_width=6, label_width=1, shift=1)
    rows = np.stack([train_df[name] for name in train_df], axis=1)
    example_window = jnp.stack([jnp.asarray(rows[k : k + w2.total_window_size], jnp.float32) for k in (0, 100, 200)])
    example_inputs, example_labels = w2.split_window(example_window)
    assert example_window.shape == (3, 7, 19)
    assert example_inputs.shape == (3, 6, 19)
    assert example_labels.shape == (3, 1, 1)
    np.testing.assert_array_equal(example_labels[:, 0, 0], example_window[:, 6, 1])


def test_what_the_plot_shows() -> None:
    # the lines and points of the plot's first row: inputs, labels and predictions at the times that they are of
    w2 = window(input_width=6, label_width=1, shift=1)
    inputs, labels = w2.example
    plot_col_index = w2.column_indices["T (degC)"]
    assert [*w2.input_indices] == [0, 1, 2, 3, 4, 5] and inputs[0, :, plot_col_index].shape == (6,)
    assert [*w2.label_indices] == [6] and labels[0, :, w2.label_columns_indices["T (degC)"]].shape == (1,)
    assert w2.label_columns_indices.get("p (mbar)") is None  # no labels of other columns
    assert w2.example is w2.example


def test_datasets_of_windows() -> None:
    # tf.keras.utils has no counterpart: the function above makes the windows
    assert not hasattr(ag, "utils") and not hasattr(ag.data, "timeseries_dataset_from_array")
    w2 = window(input_width=6, label_width=1, shift=1)
    assert w2.train.element_spec == (ag.TensorSpec((None, 6, 19), "float32"), ag.TensorSpec((None, 1, 1), "float32"))
    for example_inputs, example_labels in w2.train.take(1):
        assert example_inputs.shape == (32, 6, 19)
        assert example_labels.shape == (32, 1, 1)
    assert sum(len(y) for _, y in w2.train) == 420 - 6
    # the same windows by `window` and `flat_map`
    rows = np.stack([train_df[name] for name in train_df], axis=1).astype(np.float32)
    windows = ag.data.Dataset.from_tensor_slices(rows).window(7, shift=1, drop_remainder=True)
    by_window = windows.flat_map(lambda window: window.batch(7, drop_remainder=True)).batch(32)
    for one, other in zip(by_window.take(2), timeseries_dataset_from_array(rows, 7, shuffle=False, batch_size=32)):
        np.testing.assert_array_equal(one, other)
    # each label is the temperature one hour after the last input
    series = np.asarray(train_df["T (degC)"], np.float32)
    followers = {float(a): float(b) for a, b in zip(series, series[1:])}
    assert all(followers[float(x[-1, 1])] == float(y[0, 0]) for x, y in zip(example_inputs, example_labels))


# models of a single step


class Baseline(ag.layers.Model):
    def __init__(self, label_index: int | None = None) -> None:
        super().__init__()
        self.label_index = label_index

    def call(self, inputs: Any) -> Any:
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, jnp.newaxis]


def test_single_steps() -> None:
    single_step_window = window(input_width=1, label_width=1, shift=1)
    assert repr(single_step_window).splitlines()[:3] == ["Total window size: 2", "Input indices: [0]", "Label indices: [1]"]
    example_inputs, example_labels = single_step_window.example
    assert (example_inputs.shape, example_labels.shape) == ((32, 1, 19), (32, 1, 1))


def test_the_baseline() -> None:
    single_step_window = window(input_width=1, label_width=1, shift=1)
    baseline = compiled(Baseline(label_index=column_indices["T (degC)"]))
    performance = baseline.evaluate(single_step_window.test, verbose=0, return_dict=True)
    rest = np.diff(np.asarray(test_df["T (degC)"]))
    assert performance == pytest.approx({"loss": (rest**2).mean(), "mean_absolute_error": np.abs(rest).mean()}, rel=1e-4)


def test_the_baseline_of_a_wide_window() -> None:
    wide_window = window(input_width=24, label_width=24, shift=1)
    assert repr(wide_window).splitlines()[2].startswith("Label indices: [ 1  2  3") and wide_window.total_window_size == 25
    inputs, labels = wide_window.example
    baseline = Baseline(label_index=column_indices["T (degC)"])
    predictions = baseline(inputs)
    assert (inputs.shape, predictions.shape) == ((32, 24, 19), (32, 24, 1))
    np.testing.assert_array_equal(predictions[:, 1:], labels[:, :-1])  # the labels, an hour late


def test_linear() -> None:
    ag.set_seed(0)
    single_step_window, wide_window = window(1, 1, 1), window(24, 24, 1)
    linear = ag.layers.Sequential([ag.layers.Dense(units=1)])
    assert linear(single_step_window.example[0]).shape == (32, 1, 1)
    check_trained(linear, single_step_window)
    inputs = wide_window.example[0]
    predictions = linear(inputs)
    assert predictions.shape == (32, 24, 1)
    kernel = linear.layers[0].kernel
    assert kernel[:, 0].shape == (19,)  # the bars of the page's plot
    np.testing.assert_allclose(predictions, np.asarray(inputs) @ kernel.numpy() + linear.layers[0].bias.numpy(), rtol=1e-4, atol=1e-4)


def test_dense() -> None:
    ag.set_seed(0)
    dense = ag.layers.Sequential(
        [
            ag.layers.Dense(units=64, activation="relu"),
            ag.layers.Dense(units=64, activation="relu"),
            ag.layers.Dense(units=1),
        ]
    )
    check_trained(dense, window(1, 1, 1))


CONV_WIDTH = 3


def test_dense_of_several_steps() -> None:
    ag.set_seed(0)
    conv_window, wide_window = window(CONV_WIDTH, 1, 1), window(24, 24, 1)
    assert repr(conv_window).splitlines()[:3] == ["Total window size: 4", "Input indices: [0 1 2]", "Label indices: [3]"]
    multi_step_dense = ag.layers.Sequential(
        [
            ag.layers.Flatten(),
            ag.layers.Dense(units=32, activation="relu"),
            ag.layers.Dense(units=32, activation="relu"),
            ag.layers.Dense(units=1),
            ag.layers.Reshape([1, -1]),
        ]
    )
    assert conv_window.example[0].shape == (32, 3, 19)
    assert multi_step_dense(conv_window.example[0]).shape == (32, 1, 1)
    check_evaluated(multi_step_dense, conv_window)
    # it takes windows of this width alone: ValueError in TensorFlow, of 456 for 57 numbers
    with pytest.raises(LayerError, match=r"AG708 .* was built for a last axis of 57, and is given shape \(32, 456\)"):
        multi_step_dense(wide_window.example[0])


def test_convolution() -> None:
    ag.set_seed(0)
    conv_window, wide_window = window(CONV_WIDTH, 1, 1), window(24, 24, 1)
    conv_model = ag.layers.Sequential(
        [
            ag.layers.Conv1D(filters=32, kernel_size=(CONV_WIDTH,), activation="relu"),
            ag.layers.Dense(units=32, activation="relu"),
            ag.layers.Dense(units=1),
        ]
    )
    assert conv_model(conv_window.example[0]).shape == (32, 1, 1)
    check_trained(conv_model, conv_window)
    assert wide_window.example[1].shape == (32, 24, 1)
    wide = conv_model(wide_window.example[0])
    assert wide.shape == (32, 22, 1)
    # the same model at each place
    np.testing.assert_allclose(wide[:, 4:5], conv_model(wide_window.example[0][:, 4:7]), rtol=1e-3, atol=1e-5)
    label_width = 24
    wide_conv_window = window(label_width + (CONV_WIDTH - 1), label_width, 1)
    assert repr(wide_conv_window).splitlines()[0] == "Total window size: 27"
    inputs, labels = wide_conv_window.example
    assert (inputs.shape, labels.shape, conv_model(inputs).shape) == ((32, 26, 19), (32, 24, 1), (32, 24, 1))


def lstm_by_hand(weights: list[Any], x: Any) -> Any:
    """Keras's LSTM, whose gates are in the order i, f, c, o, and a dense layer, in NumPy."""
    kernel, recurrent, bias, dense, dense_bias = (np.asarray(w, np.float64) for w in weights)
    units = recurrent.shape[0]
    h = c = np.zeros((len(x), units))
    outputs = []
    for t in range(x.shape[1]):
        z = np.asarray(x[:, t], np.float64) @ kernel + h @ recurrent + bias
        i, f, g, o = (z[:, k * units : (k + 1) * units] for k in range(4))
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs.append(h @ dense + dense_bias)
    return np.stack(outputs, 1)


def test_recurrent() -> None:
    ag.set_seed(0)
    wide_window = window(24, 24, 1)
    lstm_model = ag.layers.Sequential([ag.layers.LSTM(32, return_sequences=True), ag.layers.Dense(units=1)])
    inputs = wide_window.example[0]
    assert (inputs.shape, lstm_model(inputs).shape) == ((32, 24, 19), (32, 24, 1))
    check_trained(lstm_model, wide_window)
    np.testing.assert_allclose(lstm_model(inputs), lstm_by_hand(lstm_model.get_weights(), inputs), rtol=1e-3, atol=1e-5)
    # Keras holds the metrics of `compile` in one object, here they follow the mean of the loss
    assert [m.name for m in lstm_model.metrics] == ["loss", "mean_absolute_error"]


def test_the_table_of_performances() -> None:
    single_step_window = window(1, 1, 1)
    performance, val_performance = {}, {}
    for name, index in (("Baseline", column_indices["T (degC)"]), ("Other", column_indices["p (mbar)"])):
        model = compiled(Baseline(label_index=index))
        val_performance[name] = model.evaluate(single_step_window.val, return_dict=True)
        performance[name] = model.evaluate(single_step_window.test, verbose=0, return_dict=True)
    metric_name = "mean_absolute_error"
    lines = [f"{name:12s}: {value[metric_name]:0.4f}" for name, value in performance.items()]
    assert lines[0] == f"Baseline    : {np.abs(np.diff(np.asarray(test_df['T (degC)']))).mean():0.4f}"
    assert [sorted(v) for v in val_performance.values()] == [["loss", "mean_absolute_error"]] * 2


# several outputs


def test_baseline_of_all_columns() -> None:
    wide_window = window_of_all(24, 24, 1)
    example_inputs, example_labels = wide_window.example
    assert (example_inputs.shape, example_labels.shape) == ((32, 24, 19), (32, 24, 19))
    baseline = compiled(Baseline())
    performance = baseline.evaluate(wide_window.test, verbose=0, return_dict=True)
    assert performance == pytest.approx(measured(lambda x: x, wide_window.test), rel=1e-4)


def test_dense_of_all_columns() -> None:
    ag.set_seed(0)
    dense = ag.layers.Sequential(
        [
            ag.layers.Dense(units=64, activation="relu"),
            ag.layers.Dense(units=64, activation="relu"),
            ag.layers.Dense(units=num_features),
        ]
    )
    check_evaluated(dense, window_of_all(1, 1, 1))


def test_recurrent_of_all_columns() -> None:
    ag.set_seed(0)
    lstm_model = ag.layers.Sequential([ag.layers.LSTM(32, return_sequences=True), ag.layers.Dense(units=num_features)])
    check_trained(lstm_model, window_of_all(24, 24, 1))


class ResidualWrapper(ag.layers.Model):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        delta = self.model(inputs, *args, **kwargs)
        # the input, and what the model says that will have changed
        return inputs + delta


def test_residual() -> None:
    ag.set_seed(0)
    wide_window = window_of_all(24, 24, 1)
    residual_lstm = ResidualWrapper(
        ag.layers.Sequential(
            [
                ag.layers.LSTM(32, return_sequences=True),
                # the changes begin with zero; tf.initializers.zeros() is Zeros() here
                ag.layers.Dense(num_features, kernel_initializer=ag.layers.initializers.Zeros()),
            ]
        )
    )
    inputs = wide_window.example[0]
    np.testing.assert_array_equal(residual_lstm(inputs), inputs)
    check_trained(residual_lstm, wide_window)


# several steps


OUT_STEPS = 24


def multi_window() -> WindowGenerator:
    return window_of_all(24, OUT_STEPS, OUT_STEPS)


class MultiStepLastBaseline(ag.layers.Model):
    def call(self, inputs: Any) -> Any:
        return jnp.tile(inputs[:, -1:, :], [1, OUT_STEPS, 1])


class RepeatBaseline(ag.layers.Model):
    def call(self, inputs: Any) -> Any:
        return inputs


def test_baselines_of_a_day() -> None:
    day = multi_window()
    assert repr(day).splitlines()[0] == "Total window size: 48"
    assert [*day.label_indices] == [*range(24, 48)] and repr(day).endswith("Label column name(s): None")
    last, repeat = compiled(MultiStepLastBaseline()), compiled(RepeatBaseline())
    found = {name: model.evaluate(day.test, verbose=0, return_dict=True) for name, model in (("Last", last), ("Repeat", repeat))}
    assert found["Last"] == pytest.approx(measured(lambda x: np.repeat(np.asarray(x)[:, -1:], 24, axis=1), day.test), rel=1e-4)
    assert found["Repeat"] == pytest.approx(measured(lambda x: x, day.test), rel=1e-4)
    # the day repeats itself in this weather, as the page says of its own
    assert found["Repeat"]["mean_absolute_error"] < found["Last"]["mean_absolute_error"]


def zeros_then_reshape() -> list[Any]:
    return [
        ag.layers.Dense(OUT_STEPS * num_features, kernel_initializer=ag.layers.initializers.Zeros()),
        ag.layers.Reshape([OUT_STEPS, num_features]),
    ]


SINGLE_SHOT: dict[str, Callable[[], list[Any]]] = {
    "linear": lambda: [ag.layers.Lambda(lambda x: x[:, -1:, :])],
    "dense": lambda: [ag.layers.Lambda(lambda x: x[:, -1:, :]), ag.layers.Dense(512, activation="relu")],
    "conv": lambda: [ag.layers.Lambda(lambda x: x[:, -CONV_WIDTH:, :]), ag.layers.Conv1D(256, activation="relu", kernel_size=(CONV_WIDTH))],
    "lstm": lambda: [ag.layers.LSTM(32, return_sequences=False)],
}


@pytest.mark.parametrize("name", SINGLE_SHOT)
def test_single_shot(name: str) -> None:
    ag.set_seed(0)
    day = multi_window()
    model = ag.layers.Sequential([*SINGLE_SHOT[name](), *zeros_then_reshape()])
    inputs, labels = day.example
    predictions = model(inputs)
    assert (inputs.shape, labels.shape, predictions.shape) == ((32, 24, 19), (32, 24, 19), (32, 24, 19))
    assert not np.asarray(predictions).any()  # the last layer begins with zeros
    if name in ("linear", "lstm"):
        check_trained(model, day)
    else:
        check_evaluated(model, day)


# each step from the one before


class FeedBack(ag.layers.Model):
    def __init__(self, units: int, out_steps: int) -> None:
        super().__init__()
        self.out_steps = out_steps
        self.units = units
        self.lstm_cell = ag.layers.LSTMCell(units)
        # the cell in a layer, which goes over the inputs
        self.lstm_rnn = ag.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = ag.layers.Dense(num_features)

    def warmup(self, inputs: Any) -> tuple[Any, list[Any]]:
        x, *state = self.lstm_rnn(inputs)
        prediction = self.dense(x)
        return prediction, state

    def call(self, inputs: Any, training: Any = None) -> Any:
        predictions = []
        prediction, state = self.warmup(inputs)
        predictions.append(prediction)
        for _ in range(1, self.out_steps):
            x = prediction
            x, state = self.lstm_cell(x, states=state, training=training)
            prediction = self.dense(x)
            predictions.append(prediction)
        # (time, batch, features), and then (batch, time, features)
        return jnp.transpose(jnp.stack(predictions), [1, 0, 2])


def test_feedback() -> None:
    ag.set_seed(0)
    day = multi_window()
    feedback_model = FeedBack(units=32, out_steps=OUT_STEPS)
    inputs = day.example[0]
    prediction, state = feedback_model.warmup(inputs)
    assert prediction.shape == (32, 19) and [s.shape for s in state] == [(32, 32), (32, 32)]
    predictions = feedback_model(inputs)
    assert predictions.shape == (32, 24, 19)
    # the same by hand: the predictions are put behind the inputs, one by one
    weights, known = feedback_model.get_weights(), np.asarray(inputs, np.float64)
    for _ in range(OUT_STEPS):
        known = np.concatenate([known, lstm_by_hand(weights, known)[:, -1:]], axis=1)
    np.testing.assert_allclose(predictions, known[:, -OUT_STEPS:], rtol=1e-3, atol=1e-4)
    check_trained(feedback_model, day)
