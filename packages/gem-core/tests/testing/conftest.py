import sys
from pathlib import Path

# The environments of these tests are imported by name, in other processes too.
sys.path.insert(0, str(Path(__file__).parent))
