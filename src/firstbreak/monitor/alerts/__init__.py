"""Where alarms go: terminal, file, W&B, Trackio, chats, webhooks, Prometheus, OpenTelemetry, or a function of yours.

    monitor = Monitor("runs/a", alerts=[Console(), File("runs/a/alerts.jsonl"), Slack()])

Notices are delivered by `Post` on a thread of its own: an alert that is slow or down never holds training up. Secrets
are read from the environment and appear in no text. The standard library is enough for all but the named services.
"""

from .alert import Alert, AlertError, Source
from .box import Schedule
from .call import Call
from .console import Console
from .file import File
from .nine import NINE, Classic, Level, classic_of, level_of, title_of
from .open_telemetry import OpenTelemetry
from .post import Post, Standing, as_alert
from .prometheus import Prometheus
from .readings import Readings
from .slack import Slack
from .trackio_alert import TrackioAlert
from .wandb_alert import WandbAlert
from .webhook import Webhook

__all__ = [
    "NINE",
    "Alert",
    "AlertError",
    "Call",
    "Classic",
    "Console",
    "File",
    "Level",
    "OpenTelemetry",
    "Post",
    "Prometheus",
    "Readings",
    "Schedule",
    "Slack",
    "Source",
    "Standing",
    "TrackioAlert",
    "WandbAlert",
    "Webhook",
    "as_alert",
    "classic_of",
    "level_of",
    "title_of",
]
