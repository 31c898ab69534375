"""TensorFlow's tutorial "Text generation with an RNN": tensorflow.org/text/tutorials/text_generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import DatasetError, VariableStateError

# in the place of Shakespeare's plays
TEXT = (
    "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n\n"
    "First Citizen:\nYou are all resolved rather to die than to famish?\n\nAll:\nResolved. resolved.\n\n"
) * 12
VOCAB = sorted(set(TEXT))
# arrays hold no strings, and there is no layer StringLookup: a list and a dict are the tables
NAMES = ["[UNK]", *VOCAB]
NUMBERS = {c: k for k, c in enumerate(NAMES)}

SEQ_LENGTH, BATCH_SIZE, BUFFER_SIZE = 30, 8, 10000  # 100, 64 and 10000 on the page
EMBEDDING_DIM, RNN_UNITS = 16, 32  # 256 and 1024


def ids_from_chars(chars: str) -> Any:
    return jnp.array([NUMBERS.get(c, 0) for c in chars], jnp.int32)


def text_from_ids(ids: Any) -> str:
    return "".join(NAMES[int(k)] for k in np.asarray(ids))


def split_input_target(sequence: Any) -> tuple[Any, Any]:
    input_text = sequence[:-1]
    target_text = sequence[1:]
    return input_text, target_text


def sequences() -> ag.data.Dataset:
    return ag.data.Dataset.from_tensor_slices(ids_from_chars(TEXT)).batch(SEQ_LENGTH + 1, drop_remainder=True)


def training_batches() -> ag.data.Dataset:
    return sequences().map(split_input_target).shuffle(BUFFER_SIZE).batch(BATCH_SIZE, drop_remainder=True).prefetch(ag.data.AUTOTUNE)


class MyModel(ag.layers.Model):
    def __init__(self, vocab_size: int, embedding_dim: int, rnn_units: int) -> None:
        super().__init__()
        self.embedding = ag.layers.Embedding(vocab_size, embedding_dim)
        self.gru = ag.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = ag.layers.Dense(vocab_size)

    def call(self, inputs: Any, states: Any = None, return_state: bool = False, training: bool = False) -> Any:
        x = inputs
        x = self.embedding(x, training=training)
        # without states the layer begins with zeros: see test_the_first_state_of_a_layer
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        if return_state:
            return x, states
        else:
            return x


def new_model() -> MyModel:
    ag.set_seed(0)
    model = MyModel(vocab_size=len(NAMES), embedding_dim=EMBEDDING_DIM, rnn_units=RNN_UNITS)
    model(jnp.zeros((1, 2), jnp.int32))
    return model


# the text and its numbers


def test_characters_and_numbers() -> None:
    assert "b" not in VOCAB
    assert [NAMES[int(k)] for k in ids_from_chars("abcdef")] == ["a", "[UNK]", "c", "d", "e", "f"]
    assert text_from_ids(ids_from_chars(TEXT[:250])) == TEXT[:250]
    # sequences of several lengths are a list of arrays: there are no ragged tensors
    assert [text_from_ids(ids_from_chars(s)) for s in ("speak", "all")] == ["speak", "all"]


def test_strings_are_no_items() -> None:
    with pytest.raises(DatasetError, match="AG707 a list is given that is no array"):
        ag.data.Dataset.from_tensor_slices(["speak", "all"])
    assert not hasattr(ag.layers, "StringLookup")


# examples and targets


def test_a_dataset_of_characters() -> None:
    ids_dataset = ag.data.Dataset.from_tensor_slices(ids_from_chars(TEXT))
    assert "".join(NAMES[int(ids)] for ids in ids_dataset.take(10)) == "First Citi"


def test_sequences_of_the_text() -> None:
    found = [text_from_ids(seq) for seq in sequences().take(5)]
    assert found == [TEXT[31 * k : 31 * k + 31] for k in range(5)]
    assert sequences().cardinality() == len(TEXT) // 31


def test_inputs_and_targets() -> None:
    assert split_input_target(list("Tensorflow")) == (
        ["T", "e", "n", "s", "o", "r", "f", "l", "o"],
        ["e", "n", "s", "o", "r", "f", "l", "o", "w"],
    )
    for input_example, target_example in sequences().map(split_input_target).take(1):
        assert text_from_ids(input_example) == TEXT[:30]
        assert text_from_ids(target_example) == TEXT[1:31]


def test_batches_of_one_shape() -> None:
    dataset = training_batches()
    assert dataset.element_spec == (ag.TensorSpec((8, 30), "int32"), ag.TensorSpec((8, 30), "int32"))
    x, y = next(iter(dataset))
    np.testing.assert_array_equal(x[:, 1:], y[:, :-1])


# the model


def test_the_shape_of_the_output() -> None:
    model = new_model()
    for input_example_batch, _ in training_batches().take(1):
        assert model(input_example_batch).shape == (8, 30, len(NAMES))
    assert model(jnp.zeros((2, 7), jnp.int32)).shape == (2, 7, len(NAMES))  # of any length


def test_the_numbers_of_parameters() -> None:
    model = new_model()
    vocab = len(NAMES)
    # as Keras counts: 3 * (e * u + u * u + 2 * u) for a GRU; the page's text has 66 names, and these formulas give its numbers
    assert [66 * 256, 3 * (256 * 1024 + 1024 * 1024 + 2 * 1024), 1024 * 66 + 66] == [16_896, 3_938_304, 67_650]
    sizes = [vocab * 16, 3 * (16 * 32 + 32 * 32 + 2 * 32), 32 * vocab + vocab]
    lines = [line.split() for line in model.summary().splitlines()]
    assert [(line[1], line[2]) for line in lines[1:4]] == [(name, f"{n:,}") for name, n in zip(("Embedding", "GRU", "Dense"), sizes)]
    assert model.count_params() == sum(sizes)


def test_the_layers_by_hand() -> None:
    # Keras's GRU, whose gates are in the order z, r, h and whose reset gate comes after the product, in NumPy
    model = new_model()
    ids = ids_from_chars("All:\nSpeak")[None]
    table, kernel, recurrent, bias, dense, dense_bias = (np.asarray(w, np.float64) for w in model.get_weights())
    h, outputs = np.zeros((1, RNN_UNITS)), []
    for k in np.asarray(ids)[0]:
        of_x, of_h = np.split(table[[k]] @ kernel + bias[0], 3, axis=1), np.split(h @ recurrent + bias[1], 3, axis=1)
        z, r = 1 / (1 + np.exp(-of_x[0] - of_h[0])), 1 / (1 + np.exp(-of_x[1] - of_h[1]))
        h = z * h + (1 - z) * np.tanh(of_x[2] + r * of_h[2])
        outputs.append(h @ dense + dense_bias)
    logits, states = model(ids, return_state=True)
    np.testing.assert_allclose(logits, np.stack(outputs, 1), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(states, h, rtol=1e-3, atol=1e-5)
    # in two parts, with the states of the first one
    _, states = model(ids[:, :4], return_state=True)
    np.testing.assert_allclose(model(ids[:, 4:], states=states), logits[:, 4:], rtol=1e-3, atol=1e-5)


def test_the_first_state_of_a_layer() -> None:
    model = new_model()
    x = model.embedding(jnp.zeros((4, 3), jnp.int32))
    states = model.gru.get_initial_state(x)
    assert jax.tree.leaves(states)[0].shape == (4, RNN_UNITS)


def test_sampled_characters() -> None:
    model = new_model()
    predictions = model(next(iter(training_batches()))[0])
    sampled_indices = ag.random.categorical(predictions[0], num_samples=1)
    assert sampled_indices.shape == (30, 1)
    sampled_indices = jnp.squeeze(sampled_indices, axis=-1)
    assert len({*sampled_indices.tolist()}) > 5 and 0 <= int(sampled_indices.min()) and int(sampled_indices.max()) < len(NAMES)
    assert text_from_ids(sampled_indices)


# the training


def test_the_loss_before_the_training() -> None:
    loss = ag.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = next(iter(training_batches()))
    mean_loss = loss(y, new_model()(x))
    # as the page says: about as many as there are names
    assert float(jnp.exp(mean_loss)) == pytest.approx(len(NAMES), rel=0.05)


def compiled_model() -> MyModel:
    model = new_model()
    model.compile(optimizer="adam", loss=ag.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def test_a_callback_that_saves_weights_only(tmp_path: Path) -> None:
    checkpoint_callback = ag.callbacks.ModelCheckpoint(filepath=str(tmp_path / "ckpt_{epoch}"), save_weights_only=True)
    compiled_model().fit(training_batches().take(1), epochs=1, callbacks=[checkpoint_callback], verbose=0)
    assert [p.name for p in tmp_path.iterdir()] == ["ckpt_1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[MyModel, Any, Path]:
    folder = tmp_path_factory.mktemp("training_checkpoints")
    checkpoint_callback = ag.callbacks.ModelCheckpoint(filepath=str(folder / "ckpt_{epoch}"))
    model = new_model()
    # a larger rate than the page's, as there is less text
    model.compile(optimizer=ag.optimizers.Adam(0.02), loss=ag.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(training_batches(), epochs=20, callbacks=[checkpoint_callback], verbose=0)
    return model, history, folder


def test_the_training_and_its_checkpoints(trained: tuple[MyModel, Any, Path]) -> None:
    model, history, folder = trained
    assert len(history.history["loss"]) == 20
    assert history.history["loss"][-1] < 0.5 < 3 < history.history["loss"][0]
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"ckpt_{k}" for k in range(1, 21))
    other = new_model()
    other.load_weights(folder / "ckpt_20")
    for one, two in zip(other.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(one, two)


# the generation


class OneStep(ag.layers.Model):
    def __init__(self, model: MyModel, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature
        self.model = model
        # "[UNK]" is never drawn; the page makes this of a sparse tensor
        self.prediction_mask = jnp.zeros(len(NAMES)).at[NUMBERS["[UNK]"]].set(-jnp.inf)

    @ag.function
    def generate_one_step(self, input_ids: Any, states: Any = None) -> tuple[Any, Any]:
        # numbers are taken and given, in the place of characters
        predicted_logits, states = self.model(inputs=input_ids, states=states, return_state=True)
        predicted_logits = predicted_logits[:, -1, :]
        predicted_logits = predicted_logits / self.temperature
        predicted_logits = predicted_logits + self.prediction_mask
        predicted_ids = ag.random.categorical(predicted_logits, num_samples=1)
        predicted_ids = jnp.squeeze(predicted_ids, axis=-1)
        return predicted_ids, states


def generated(one_step_model: OneStep, start: str, copies: int, length: int) -> list[str]:
    states = None
    next_char = jnp.tile(ids_from_chars(start), (copies, 1))
    result = [next_char]
    for _ in range(length):
        next_char, states = one_step_model.generate_one_step(next_char, states=states)
        next_char = next_char[:, None]
        result.append(next_char)
    return [text_from_ids(row) for row in jnp.concatenate(result, axis=1)]


def test_a_generated_text(trained: tuple[MyModel, Any, Path]) -> None:
    ag.set_seed(2)
    (text,) = generated(OneStep(trained[0]), "All:", 1, 80)
    assert len(text) == 84 and text.startswith("All:") and "[UNK]" not in text
    # most words are those of the text
    words = text[:-8].split()
    assert sum(word in TEXT for word in words) > len(words) / 2


def test_five_generated_texts(trained: tuple[MyModel, Any, Path]) -> None:
    ag.set_seed(3)
    texts = generated(OneStep(trained[0], temperature=2.0), "All:", 5, 40)
    assert [len(text) for text in texts] == [44] * 5
    assert all(text.startswith("All:") for text in texts) and len(set(texts)) > 1


def test_a_low_temperature(trained: tuple[MyModel, Any, Path]) -> None:
    # almost always the most likely character
    one, two = generated(OneStep(trained[0], temperature=1e-3), "First", 2, 40)
    assert one == two and one.startswith("First Citizen:\n")


def test_a_string_in_a_compiled_function(trained: tuple[MyModel, Any, Path]) -> None:
    # the page's function takes strings; a string is static here, and each other one compiles again
    @ag.function
    def logits_after(chars: str) -> Any:
        return trained[0](ids_from_chars(chars)[None])[0, -1]

    for chars in ("All:", "Speak", "All:"):
        np.testing.assert_allclose(logits_after(chars), trained[0](ids_from_chars(chars)[None])[0, -1], rtol=1e-3, atol=1e-4)


# the export


def test_the_exported_step(trained: tuple[MyModel, Any, Path]) -> None:
    # a program that is exported assigns no Variable, as that of the random numbers: they are drawn outside of it, as below
    one_step = OneStep(trained[0])
    with pytest.raises(VariableStateError, match="AG702"):
        ag.export(one_step.generate_one_step, jax.ShapeDtypeStruct((1, 4), jnp.int32))


def test_the_exported_logits(trained: tuple[MyModel, Any, Path], tmp_path: Path) -> None:
    # with the drawing left to JAX, outside of the exported program
    @ag.function
    def step(input_ids: Any, states: Any) -> Any:
        return trained[0](input_ids, states=states, return_state=True)

    ids, states = ids_from_chars("A")[None], jnp.zeros((1, RNN_UNITS))
    (tmp_path / "one_step").write_bytes(ag.export(step, ids, states).serialize())
    one_step_reloaded = jax.export.deserialize(bytearray((tmp_path / "one_step").read_bytes()))
    result, key = "A", jax.random.key(0)
    for _ in range(20):
        logits, states = one_step_reloaded.call(ids, states)
        key, own = jax.random.split(key)
        ids = jax.random.categorical(own, logits[:, -1])[:, None]
        result += text_from_ids(ids[0])
    assert len(result.replace("[UNK]", "?")) == 21
    expected = trained[0](ids_from_chars("A")[None])
    np.testing.assert_allclose(one_step_reloaded.call(ids_from_chars("A")[None], jnp.zeros((1, RNN_UNITS)))[0], expected, rtol=1e-3, atol=1e-4)


# a training step of one's own


class CustomTraining(MyModel):
    calls = 0

    @ag.function
    def train_step(self, inputs: Any) -> dict[str, Any]:
        type(self).calls += 1
        inputs, labels = inputs
        with ag.GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self.loss(labels, predictions)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def custom_model(cls: type[CustomTraining]) -> Any:
    ag.set_seed(0)
    model = cls(vocab_size=len(NAMES), embedding_dim=EMBEDDING_DIM, rnn_units=RNN_UNITS)
    model.compile(optimizer=ag.optimizers.Adam(), loss=ag.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def test_fit_calls_the_train_step() -> None:
    CustomTraining.calls = 0
    custom_model(CustomTraining).fit(training_batches().take(2), epochs=1, verbose=0)
    assert CustomTraining.calls > 0


def test_the_train_step_by_itself() -> None:
    x, y = next(iter(training_batches()))
    logs = custom_model(CustomTraining).train_step([x, y])
    assert float(logs["loss"]) == pytest.approx(np.log(len(NAMES)), rel=0.05)


class CustomTrainingWithLoss(CustomTraining):
    # what the class lacks: the loss in an attribute
    loss = staticmethod(ag.losses.SparseCategoricalCrossentropy(from_logits=True))


def test_a_training_loop_of_ones_own(tmp_path: Path) -> None:
    model = custom_model(CustomTrainingWithLoss)
    dataset = training_batches().take(4)
    mean = ag.metrics.Mean()
    said, means = [], []
    for epoch in range(4):
        mean.reset_state()
        for batch_n, (inp, target) in enumerate(dataset):
            logs = model.train_step([inp, target])
            mean.update_state(logs["loss"])
            if batch_n % 50 == 0:
                said.append(f"Epoch {epoch + 1} Batch {batch_n} Loss {logs['loss']:.4f}")
        if (epoch + 1) % 2 == 0:
            model.save_weights(tmp_path / f"ckpt_{epoch}")
        means.append(float(mean.result()))
    assert [line.split(" Loss ")[0] for line in said] == [f"Epoch {k} Batch 0" for k in range(1, 5)]
    assert means == sorted(means, reverse=True) and means[0] == pytest.approx(np.log(len(NAMES)), rel=0.05)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ckpt_1", "ckpt_3"]
    assert int(model.optimizer.iterations.numpy()) == 16
