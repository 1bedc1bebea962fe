"""`mindspore.log`: log functions of programs, through Python's logger "mindspore"."""

from __future__ import annotations

import logging

_logger = logging.getLogger("mindspore")

debug, info, warning, error, critical = _logger.debug, _logger.info, _logger.warning, _logger.error, _logger.critical
