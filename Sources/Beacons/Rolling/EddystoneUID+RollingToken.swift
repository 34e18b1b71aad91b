extension EddystoneUID {
    /// A rolling identifier's 16 bytes as namespace and instance: every receiver passes Eddystone on, also those of
    /// Apple's that keep iBeacons to themselves, and no service UUID has to be made up (dossier 8.4, "Eddystone-like").
    public init(carrying token: RollingToken) {
        self.init(
            namespace: Namespace(high: token.high, low: UInt16(truncatingIfNeeded: token.low >> 48)),
            truncatingInstance: token.low)
    }
}

extension RollingToken {
    /// The 16 bytes of an Eddystone UID, whatever they mean.
    public init(_ uid: EddystoneUID) {
        self.init(high: uid.namespace.high, low: UInt64(uid.namespace.low) << 48 | uid.instance)
    }
}
