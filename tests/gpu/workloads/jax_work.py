"""A jitted loop of JAX.

  run K    K iterations, then waits
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # pylint: disable=wrong-import-position
import jax.numpy as jnp  # pylint: disable=wrong-import-position

from protocol import serve  # pylint: disable=wrong-import-position


@jax.jit
def step(x, weight):
    return jnp.tanh(x @ weight) + 0.1 * x


def main():
    key = jax.random.PRNGKey(5)
    weight = jax.random.normal(key, (512, 512)) * 0.05
    start = jax.random.normal(key, (256, 512))

    def run(count):
        x = start
        for _ in range(count):
            x = step(x, weight)
        x.block_until_ready()
        return {"backend": jax.default_backend()}

    run(20)
    serve({"run": run})


main()
