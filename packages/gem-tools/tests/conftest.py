from hypothesis import settings

settings.register_profile("gem", deadline=None)  # a busy machine must not fail a test
settings.load_profile("gem")
