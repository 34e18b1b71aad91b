/// One received advertisement.
public struct Advertisement: Sendable, Hashable {
    /// When it was received.
    public let time: Timestamp
    /// The sender's address, if the receiver reports it.
    public let address: DeviceAddress?
    /// The signal strength; nil when the receiver could not measure it.
    public let rssi: RSSI?
    /// The advertising data.
    public let data: AdvertisingData

    public init(time: Timestamp, address: DeviceAddress?, rssi: RSSI?, data: AdvertisingData) {
        self.time = time
        self.address = address
        self.rssi = rssi
        self.data = data
    }
}
