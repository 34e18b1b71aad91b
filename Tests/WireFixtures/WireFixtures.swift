// The former name of `TestFixtures`, for tests that have not moved yet.
@_exported public import TestFixtures
