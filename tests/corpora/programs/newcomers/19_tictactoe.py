"""Tic-tac-toe: a rule based player against a list of wishes."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "play"
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(board):
    for a, b, c in LINES:
        if board[a] != 0 and board[a] == board[b] == board[c]:
            return board[a]
    return 0


def completing_move(board, player):
    """The square that completes a line of the player, or None."""
    for line in LINES:
        mine = sum(1 for s in line if board[s] == player)
        empty = [board[s] == 0 for s in line]
        if mine == 2 and any(empty):
            for s in line:
                if board[s] == 0:
                    return s
    return None


def best_move(board, player):
    move = completing_move(board, player)
    if move is None:
        move = completing_move(board, -player)
    if move is None:
        for s in (4, 0, 2, 6, 8, 1, 3, 5, 7):
            if board[s] == 0:
                move = s
                break
    return move


@ag.function
def play(wishes):
    board = jnp.zeros(9, dtype=int)
    turns = 0
    for wish in wishes:
        if not 0 <= wish < 9:
            raise ValueError(f"no such square: {wish}")
        if board[wish] != 0:
            continue
        board[wish] = 1
        turns += 1
        if winner(board) or all(s != 0 for s in board):
            break
        board[best_move(board, -1)] = -1
        turns += 1
        if winner(board) == -1:
            break
    return board.reshape(3, 3), winner(board), turns


def cases():
    return [(np.array([4, 8, 1, 3, 2, 5, 6, 7, 0]),), (np.array([0, 0, 1, 5, 6, 7, 8, 3, 2]),), (np.array([0, 9, 1]),)]
