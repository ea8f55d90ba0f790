from hypothesis import HealthCheck, settings

# a busy machine must not fail a test, nor may luck
settings.register_profile("gem", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gem")
