/// The telemetry of an Eddystone beacon.
public struct EddystoneTelemetry: Sendable, Hashable {
    /// Millivolts; nil without a battery.
    public let battery: UInt16?
    /// Degrees Celsius; nil when not measured.
    public let temperature: Double?
    /// Advertisements since power-up.
    public let advertisements: UInt32
    /// Tenths of a second since power-up.
    public let uptime: UInt32

    /// Reads 12 bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        let volts: UInt16 = bytes.bigEndian(at: offset)
        battery = volts == 0 ? nil : volts
        let degrees = Int16(bitPattern: bytes.bigEndian(at: offset + 2))
        temperature = degrees == .min ? nil : Double(degrees) / 256
        advertisements = bytes.bigEndian(at: offset + 4)
        uptime = bytes.bigEndian(at: offset + 8)
    }
}
