#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Received packets as lines of JSON: `{"t":1767225600.25,"addr":"D0:00:00:00:02:F7","rssi":-61,"ad":"1aff4c00…"}` (dossier 7.3).
///
/// | member | |
/// |---|---|
/// | `t` | seconds since 1970, or since the start of the recording |
/// | `addr` | the sender's address; optional or null |
/// | `type` | `public` or `random`: how the device came to its address; optional or null |
/// | `rssi` | dBm; 127, 0, null or missing when it was not measured |
/// | `ad` | the advertising data in hexadecimal digits |
///
/// Other members are ignored, as are empty lines.
package enum RecordingCodec {
    /// The maximum length of a line in bytes: more than twice the longest advertisement.
    package static let maximumLineLength = 8_192

    /// Encodes a packet as a line, without the line feed.
    package static func line(_ advertisement: Advertisement) -> String {
        var address = advertisement.address.map { "\"addr\":\"\($0)\"," } ?? ""
        address += advertisement.addressKind.map { "\"type\":\"\($0.rawValue)\"," } ?? ""
        let rssi = advertisement.rssi.map { Int($0.dBm) } ?? RSSI.notAvailable
        return "{\"t\":\(time(advertisement.time)),\(address)\"rssi\":\(rssi),\"ad\":\""
            + Hexadecimal.encode(advertisement.data.bytes) + "\"}"
    }

    /// Parses one line; nil for an empty one.
    ///
    /// - Parameters:
    ///   - line: without the line feed; a carriage return before it is ignored.
    ///   - number: the line's number, from 1, for the error.
    /// - Throws: ``BeaconsError/recording(line:problem:)``.
    package static func advertisement(
        line: some Collection<UInt8>, number: Int
    ) throws(BeaconsError) -> Advertisement? {
        func problem(_ problem: String) -> BeaconsError { .recording(line: number, problem: problem) }
        guard line.count <= maximumLineLength else { throw problem("it is longer than \(maximumLineLength) bytes") }
        let spaces = Array(" \t\r".utf8)
        guard line.contains(where: { !spaces.contains($0) }) else { return nil }
        let row: Row
        do {
            row = try JSONDecoder().decode(Row.self, from: Data(line))
        } catch let error as DecodingError {
            throw problem(error.place)
        } catch {
            throw problem("it is not a JSON object")
        }
        guard let time = Timestamp(secondsSince1970: row.t) else { throw problem("t is outside the years 1 to 9999") }
        var address: DeviceAddress?
        if let text = row.addr {
            guard let known = DeviceAddress(text) else {
                throw problem("addr is not an address of six pairs of digits")
            }
            address = known
        }
        guard let bytes = Hexadecimal.decode(row.ad.utf8) else {
            throw problem("ad is not a sequence of hexadecimal pairs")
        }
        guard let data = try? AdvertisingData(received: bytes) else {
            throw problem("ad is longer than an advertisement can be")
        }
        return Advertisement(
            time: time, address: address, addressKind: row.type.flatMap { DeviceAddress.Kind(rawValue: $0) },
            rssi: row.rssi.flatMap { RSSI($0) }, data: data)
    }

    /// Parses a whole recording. Invalid lines are reported and do not affect the others.
    ///
    /// - Returns: the packets in the order of their lines, and the errors of the invalid lines.
    package static func advertisements(
        in text: some Sequence<UInt8>
    ) -> (advertisements: [Advertisement], errors: [BeaconsError]) {
        var advertisements: [Advertisement] = []
        var errors: [BeaconsError] = []
        let lines = Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            do throws(BeaconsError) {
                if let advertisement = try advertisement(line: line, number: index + 1) {
                    advertisements.append(advertisement)
                }
            } catch {
                errors.append(error)
            }
        }
        return (advertisements, errors)
    }

    /// The members of a line.
    private struct Row: Decodable {
        let t: Double
        let addr: String?
        let type: String?
        let rssi: Int?
        let ad: String
    }

    /// Seconds with up to six decimals, exactly as in the time.
    private static func time(_ time: Timestamp) -> String {
        let (seconds, rest) = time.microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        let sign = time.microseconds < 0 ? "-" : ""
        guard rest > 0 else { return "\(sign)\(seconds)" }
        var decimals = String(String(rest + 1_000_000).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return "\(sign)\(seconds).\(decimals)"
    }
}

extension DecodingError {
    /// The invalid member, in this module's words: the decoder's message would quote the line.
    fileprivate var place: String {
        switch self {
        case .keyNotFound(let key, _): "the member \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.last.map { "the member \($0.stringValue) is of the wrong type" }
                ?? "it is not a JSON object"
        @unknown default: "it is not a JSON object"
        }
    }
}
