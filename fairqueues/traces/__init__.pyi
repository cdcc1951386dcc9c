from .alibaba_batch import read_alibaba_2018, read_alibaba_2018_machines, read_alibaba_2018_sample
from .alibaba_dlrm import read_alibaba_dlrm_2025
from .alibaba_gpu import read_alibaba_gpu_2023
from .azure_llm import read_azure_llm
from .gavel import read_gavel, read_gavel_jobs
from .google import read_google_2019, read_google_2019_machines
from .philly import read_philly
from .synthetic import synthetic_gpu_trace
from .task_tables import read_tasks
from .throughputs import Throughputs

__all__ = [
    "Throughputs",
    "read_alibaba_2018",
    "read_alibaba_2018_machines",
    "read_alibaba_2018_sample",
    "read_alibaba_dlrm_2025",
    "read_alibaba_gpu_2023",
    "read_azure_llm",
    "read_gavel",
    "read_gavel_jobs",
    "read_google_2019",
    "read_google_2019_machines",
    "read_philly",
    "read_tasks",
    "synthetic_gpu_trace",
]
