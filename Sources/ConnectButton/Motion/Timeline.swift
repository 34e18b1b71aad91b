/// A change of the button as data: how each part moves (`connect-button-motion.md`). The web component embeds it.
struct Timeline: Sendable, Hashable, Encodable {
    /// One movement of one channel.
    struct Track: Sendable, Hashable {
        let channel: Channel
        let from: Double
        let to: Double
        /// Seconds since the change.
        let begin: Double
        let end: Double
        let curve: Curve

        init(
            _ channel: Channel, _ from: Double, _ to: Double, at begin: Double, until end: Double,
            _ curve: Curve = .easeInOut
        ) {
            self.channel = channel
            self.from = from
            self.to = to
            self.begin = begin
            self.end = end
            self.curve = curve
        }

        /// The value at a time: before the begin the first one, after the end the last one.
        ///
        /// - Parameters:
        ///   - seconds: The time since the change.
        ///   - first: The value to start from, instead of the track's own.
        ///   - curve: Another curve than the track's own.
        func value(at seconds: Double, from first: Double? = nil, along curve: Curve? = nil) -> Double {
            let part = end > begin ? (seconds - begin) / (end - begin) : seconds < begin ? 0 : 1
            let from = first ?? self.from
            return from + (to - from) * (curve ?? self.curve).progress(at: part)
        }
    }

    /// A curve, by its name in ``ConnectButtonMotion``.
    enum Curve: String, Sendable, Hashable, Encodable {
        case linear
        case easeIn
        case easeOut
        case easeInOut

        /// The progress at a fraction of the time.
        func progress(at part: Double) -> Double {
            let motion = ConnectButtonMotion.standard
            return switch self {
            case .linear: part.isNaN ? 0 : min(max(part, 0), 1)
            case .easeIn: motion.easeIn.progress(at: part)
            case .easeOut: motion.easeOut.progress(at: part)
            case .easeInOut: motion.easeInOut.progress(at: part)
            }
        }
    }

    /// Seconds: of a drag's whole way, and of the labels' cross-fade.
    let duration: Double
    let tracks: [Track]

    /// The end of the last track.
    var end: Double { tracks.reduce(duration) { max($0, $1.end) } }

    /// The value of a channel; nil when it has no track.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - seconds: The time since the change.
    ///   - first: The value that the channel starts from, instead of its first track's.
    func value(of channel: Channel, at seconds: Double, from first: Double? = nil) -> Double? {
        let tracks = tracks.filter { $0.channel == channel }
        guard let last = tracks.lastIndex(where: { seconds >= $0.begin }) ?? tracks.indices.first else { return nil }
        return tracks[last].value(at: seconds, from: last == 0 ? first : nil)
    }

    /// The value of a channel under a finger: linear in the fraction of the way. What begins after the duration takes no part.
    func value(of channel: Channel, atFraction fraction: Double) -> Double? {
        tracks.first { $0.channel == channel && $0.begin < duration }?
            .value(at: fraction * duration, along: .linear)
    }
}

extension Timeline.Track: Encodable {
    /// An array, so that the web component stays small.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(channel)
        for number in [from, to, begin, end] { try container.encode(number) }
        try container.encode(curve)
    }
}
