# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file keeps for Muslin, and these settings as plain records."""
