import Beacons

/// A person by number; one that no person has is a mistake of the test.
func person(_ number: Int) -> UserNumber {
    do {
        return try UserNumber(number)
    } catch {
        preconditionFailure("\(error)")
    }
}
