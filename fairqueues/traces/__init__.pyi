from .alibaba_batch import read_alibaba_2018, read_alibaba_2018_sample
from .alibaba_dlrm import read_alibaba_dlrm_2025
from .alibaba_gpu import read_alibaba_gpu_2023
from .azure_llm import read_azure_llm

__all__ = [
    "read_alibaba_2018",
    "read_alibaba_2018_sample",
    "read_alibaba_dlrm_2025",
    "read_alibaba_gpu_2023",
    "read_azure_llm",
]
