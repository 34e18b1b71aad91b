/// One received advertisement.
public struct Advertisement: Sendable, Hashable {
    /// When it was received.
    public let time: Timestamp
    /// The sender's address, if the receiver reports it.
    public let address: DeviceAddress?
    /// Whether the address is the device's own or a random one. Nil when the receiver does not report it.
    public let addressKind: DeviceAddress.Kind?
    /// The signal strength; nil when the receiver could not measure it.
    public let rssi: RSSI?
    /// The advertising data.
    public let data: AdvertisingData

    public init(
        time: Timestamp, address: DeviceAddress?, addressKind: DeviceAddress.Kind? = nil, rssi: RSSI?,
        data: AdvertisingData
    ) {
        self.time = time
        self.address = address
        self.addressKind = addressKind
        self.rssi = rssi
        self.data = data
    }
}
