# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the command line: their options, checks before any work, and what they do with the open file."""
