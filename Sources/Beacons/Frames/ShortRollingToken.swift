/// The four bytes of a rolling identifier that fit into an iBeacon. The minor is never 0.
package struct ShortRollingToken: Sendable, Hashable {
    package let major: UInt16
    package let minor: UInt16

    /// Nil when `minor` is 0.
    package init?(major: UInt16, minor: UInt16) {
        guard minor > 0 else { return nil }
        self.major = major
        self.minor = minor
    }
}
