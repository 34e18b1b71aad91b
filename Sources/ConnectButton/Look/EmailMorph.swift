/// The transition of the pill into the email field (IFTTT dossier 4.5), scrubbed by a finger or animated.
struct EmailMorph: Sendable, Hashable {
    /// The progress, from 0 to 1.
    let fraction: Double

    /// Creates one frame of the transition.
    ///
    /// - Parameter fraction: The progress, clamped to 0…1; NaN is 0.
    init(fraction: Double) {
        self.fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    }

    private func part(from start: Double) -> Double { max(0, (fraction - start) / (1 - start)) }
    private var motion: ConnectButtonMotion { .standard }

    /// How much of the pill is grey.
    var ground: Double { fraction }
    /// The knob's progress from the start to the place of the confirm button.
    var place: Double { fraction }
    /// The remaining opacity of the knob's shadow.
    var shadow: Double { 1 - fraction }
    /// How far the knob's side towards the field is squared: 0 is round.
    var squareness: Double { part(from: motion.emailSquareFrom) }
    /// The remaining opacity of the service's icon.
    var icon: Double { 1 - squareness }
    /// The knob's scale: at the end it is as large as the confirm button.
    var scale: Double {
        let geometry = ConnectButtonGeometry.standard
        return 1 + (geometry.confirm / geometry.knobDiameter - 1) * squareness
    }
    /// The opacity of the field and its confirm button.
    var field: Double { part(from: motion.emailFieldsFrom) }
    /// The opacity of the knob, which the confirm button replaces.
    var knob: Double { 1 - field }
}
