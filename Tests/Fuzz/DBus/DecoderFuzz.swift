// Linked with the sources of the room DBus into one program; see `run`.

/// What libFuzzer calls with each input.
///
/// Three properties: no input crashes the decoder; what decodes can be encoded again and decodes to the same message; and
/// the pieces in which bytes come do not matter to the reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let message = try? Message(decoding: bytes) { requireRoundTrip(message) }
    requireSameMessages(bytes)
    if let text = String(validating: bytes, as: UTF8.self) { parseTexts(text) }
    return 0
}

/// Messages are compared by their bytes: a number that is not a number does not equal itself.
private func requireRoundTrip(_ message: Message) {
    do {
        let encoded = try message.encoded()
        guard let again = try Message(decoding: encoded) else { fatalError("the kind was lost") }
        guard try again.encoded() == encoded else { fatalError("another message came back") }
        guard again == message || "\(again)" == "\(message)" else { fatalError("other values came back") }
    } catch {
        fatalError("what was decoded cannot be sent: \(error)")
    }
}

private func requireSameMessages(_ bytes: [UInt8]) {
    var whole = MessageReader(limit: 1 << 16)
    whole.append(bytes)
    var pieces = MessageReader(limit: 1 << 16)
    var position = 0
    // The sizes of the pieces come from the input, so that the fuzzer can choose them.
    var isOver = false
    while !isOver {
        let expected = result(&whole)
        var found = result(&pieces)
        while case .needsMore = found, position < bytes.count {
            let size = Int(bytes[position] % 7) + 1
            pieces.append(bytes[position..<min(position + size, bytes.count)])
            position += size
            found = result(&pieces)
        }
        guard "\(expected)" == "\(found)" else { fatalError("pieces matter: \(expected) and \(found)") }
        if case .message = expected { continue }
        isOver = true
    }
}

private enum Reading {
    case message(Message)
    case needsMore
    case failed(DBusError)
}

private func result(_ reader: inout MessageReader) -> Reading {
    do throws(DBusError) {
        return try reader.next().map { .message($0) } ?? .needsMore
    } catch {
        return .failed(error)
    }
}

private func parseTexts(_ text: String) {
    if let signature = try? Signature(text) {
        guard (try? Signature(signature.types)) == signature else { fatalError("the signature \(text) is another one") }
    }
    _ = try? Address.list(text)
    _ = try? BusName(text)
    _ = try? InterfaceName(text)
    _ = try? MemberName(text)
    if let path = try? ObjectPath(text) { _ = path.elements }
    var authentication = Authentication()
    _ = try? authentication.receive(text.utf8)
    _ = text.visible(limit: 100)
}
