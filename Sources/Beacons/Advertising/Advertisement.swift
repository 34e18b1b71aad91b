/// One received advertisement.
public struct Advertisement: Sendable, Hashable {
    /// When it was received.
    public let time: Timestamp
    /// Who sent it, as far as the receiver tells.
    public let address: DeviceAddress?
    /// How strong it was; nil when the receiver could not measure it.
    public let rssi: RSSI?
    /// What it said.
    public let data: AdvertisingData

    public init(time: Timestamp, address: DeviceAddress?, rssi: RSSI?, data: AdvertisingData) {
        self.time = time
        self.address = address
        self.rssi = rssi
        self.data = data
    }
}
