/// Random bytes, for everything in `Beacons` that reads some. The first byte says what reads the rest: `L` a layout and, behind a
/// line's end, advertising data; `R` a recording; anything else advertising data.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = Input(start, count) else { return 0 }
    switch input.kind {
    case UInt8(ascii: "L"): fuzzLayout(input.content)
    case UInt8(ascii: "R"): fuzzRecording(input.content)
    default: fuzzAdvertisingData(input.content)
    }
    return 0
}

private let parser = FrameParser(rollingService: ServiceUUID(rawValue: 0xFDF0))

/// Ends the process, which is how the fuzzer learns that something is wrong.
private func require(_ condition: Bool, _ rule: String) {
    if !condition { fatalError(rule) }
}

private func fuzzAdvertisingData(_ bytes: [UInt8]) {
    guard let data = try? AdvertisingData(received: bytes) else {
        return require(bytes.count > AdvertisingData.Limit.extended.count, "data that fits was refused")
    }
    let frame = parser.frame(in: data)
    _ = FrameParser(ignoresTail: true).frame(in: data)
    let structures = data.structures
    let built = structures.flatMap(\.bytes)
    require(data.bytes.starts(with: built), "structures are not what was received")
    require(built.count <= bytes.count, "structures hold more than was received")
    require(
        (try? AdvertisingData(structures, limit: .extended)).map(parser.frame(in:)) == frame,
        "rebuilt, it is another frame")
    // What is found must be found in one structure, also when a receiver hands that over alone.
    let alone = structures.map { parser.frame(in: assembled($0)) }
    require(alone.contains(frame) || frame == .unknown, "the frame is in none of the structures")
    check(frame)
    for layout in [BeaconLayout.iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL] {
        _ = layout.reading(of: data)?.identity
    }
    // A layout asks neither for a company nor for an end, so it may find a beacon before the parser's; what it says of that one must be the same.
    if case .iBeacon(let beacon) = frame,
        let one = structures.lazy.map(assembled).first(where: { parser.frame(in: $0) == frame })
    {
        require(BeaconLayout.iBeacon.reading(of: one)?.identity == beacon.identity, "the layout reads another iBeacon")
    }
}

/// A structure as BlueZ hands it over.
private func assembled(_ structure: AdvertisingStructure) -> AdvertisingData {
    let value = structure.value
    let nothing = AdvertisingData.empty
    if structure.type == .incompleteServices128 || structure.type == .completeServices128 {
        return (try? AdvertisingData([structure], limit: .extended)) ?? nothing
    }
    guard value.count >= 2 else { return nothing }
    let number = UInt16(value[0]) | UInt16(value[1]) << 8
    let rest = Array(value.dropFirst(2))
    switch structure.type {
    case .manufacturerData:
        return (try? AdvertisingData(manufacturerData: [CompanyID(rawValue: number): rest])) ?? nothing
    case .serviceData:
        return (try? AdvertisingData(manufacturerData: [:], serviceData: [ServiceUUID(rawValue: number): rest]))
            ?? nothing
    default: return nothing
    }
}

/// What was read is written and read again.
private func check(_ frame: Frame) {
    let structures: [AdvertisingStructure]
    switch frame {
    case .iBeacon(let beacon): structures = [beacon.structure]
    case .altBeacon(let beacon): structures = [beacon.structure]
    case .eddystone(.uid(let uid, let power)): structures = uid.structures(power: power)
    case .eddystone(.url(let url, let power)):
        let text = url.description
        require(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address is not visible ASCII")
        // Compressing may find a shorter form, never another address.
        if let again = try? EddystoneURL(text) { require(again.description == text, "an address changed") }
        structures = url.structures(power: power)
    case .rolling(let token): structures = [token.structure(for: ServiceUUID(rawValue: 0xFDF0))]
    default: return
    }
    require((try? AdvertisingData(structures)).map(parser.frame(in:)) == frame, "written and read, it is another frame")
}

private func fuzzLayout(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let layout: BeaconLayout
    do throws(BeaconsError) {
        layout = try BeaconLayout(parsing: String(decoding: parts[0], as: UTF8.self))
    } catch {
        require(error.description.utf8.count < 2_000, "an error quotes without bound")
        require(
            error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && ($0.isASCII || $0 == "…") },
            "an error holds what a terminal obeys")
        return
    }
    guard parts.count > 1, let data = try? AdvertisingData(received: Array(parts[1])) else { return }
    let reading = layout.reading(of: data)
    require((reading?.identifiers.reduce(0) { $0 + $1.count } ?? 0) <= 2_048 * 255, "identifiers without bound")
    _ = reading?.identity
}

private func fuzzRecording(_ bytes: [UInt8]) {
    let (packets, errors) = RecordingCodec.advertisements(in: bytes)
    for error in errors {
        require(
            error.description.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 }, "an error quotes the line")
    }
    var settings = RegionMonitor.Settings.foreground
    settings.capacity = 4
    var monitor = RegionMonitor([Region("any", .any)], settings: settings, now: packets.first?.time ?? .now())
    var ranging = Ranging(
        {
            var settings = Ranging.Settings()
            settings.capacity = 4
            return settings
        }())
    var present: Set<BeaconIdentity> = []
    var isInside = false
    for packet in packets {
        let line = RecordingCodec.line(packet)
        require(
            (try? RecordingCodec.advertisement(line: line.utf8, number: 1)) == packet, "a packet is written otherwise")
        ranging.receive(packet)
        require(ranging.tick(at: packet.time).beacons.count <= 4, "ranging without bound")
        for event in monitor.receive(packet) + monitor.tick(at: packet.time) {
            switch event {
            case .entered:
                require(!isInside, "entered twice")
                isInside = true
            case .exited:
                require(isInside, "left twice")
                isInside = false
            case .appeared(let beacon, _): require(present.insert(beacon).inserted, "appeared twice")
            case .disappeared(let beacon, _): require(present.remove(beacon) != nil, "disappeared twice")
            }
            require(present.count <= 5, "monitoring without bound")
        }
    }
}

extension AdvertisingData {
    fileprivate static var empty: AdvertisingData {
        do { return try AdvertisingData(received: []) } catch { fatalError("nothing does not fit") }
    }
}
