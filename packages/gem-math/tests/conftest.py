from hypothesis import HealthCheck, settings

# A busy machine must not fail a test, nor may what is drawn decide whether it fails.
settings.register_profile("gem", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gem")
