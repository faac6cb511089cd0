from app.flow import Flow
from app.objects import Counter
from app.worker import Default

__all__ = ["Counter", "Default", "Flow"]
