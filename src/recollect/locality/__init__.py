"""What a stream looks like: popularity, distances, the locality model, entropy."""

from recollect.locality.coincidences import Coincidences
from recollect.locality.distances import Distances
from recollect.locality.entropy import conditional_entropy, entropy_iid
from recollect.locality.interarrival import InterArrival
from recollect.locality.model import LocalityModel, fit_locality
from recollect.locality.numbering import KeyNumbers
from recollect.locality.permutation import permutation
from recollect.locality.popularity import Popularity, fit_zipf
from recollect.locality.prediction import Prediction, predict
from recollect.locality.profile import Fitted, Order, Profile, profile
from recollect.locality.stack_distance import StackDistance

__all__ = [
    "Coincidences",
    "Distances",
    "Fitted",
    "InterArrival",
    "KeyNumbers",
    "LocalityModel",
    "Order",
    "Popularity",
    "Prediction",
    "Profile",
    "StackDistance",
    "conditional_entropy",
    "entropy_iid",
    "fit_locality",
    "fit_zipf",
    "permutation",
    "predict",
    "profile",
]
