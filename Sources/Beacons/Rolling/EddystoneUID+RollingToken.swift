extension EddystoneUID {
    /// A rolling identifier's 16 bytes as namespace and instance. Every receiver reports Eddystone, including Apple's,
    /// which hide iBeacons, and no service UUID is needed (dossier 8.4, "Eddystone-like").
    public init(carrying token: RollingToken) {
        self.init(
            namespace: Namespace(high: token.high, low: UInt16(truncatingIfNeeded: token.low >> 48)),
            truncatingInstance: token.low)
    }
}

extension RollingToken {
    /// The 16 bytes of an Eddystone UID.
    public init(_ uid: EddystoneUID) {
        self.init(high: uid.namespace.high, low: UInt64(uid.namespace.low) << 48 | uid.instance)
    }
}
