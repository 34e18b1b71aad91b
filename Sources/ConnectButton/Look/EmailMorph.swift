/// How the pill becomes the email field (IFTTT dossier 4.5): a finger scrubs it, or it runs by itself.
struct EmailMorph: Sendable, Hashable {
    /// The part that is done, from 0 to 1.
    let fraction: Double

    /// A moment of the morph.
    ///
    /// - Parameter fraction: The part that is done, clamped to 0…1; what is not a number is 0.
    init(fraction: Double) {
        self.fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    }

    private func part(from start: Double) -> Double { max(0, (fraction - start) / (1 - start)) }
    private var motion: ConnectButtonMotion { .standard }

    /// How much of the pill is grey.
    var ground: Double { fraction }
    /// How far the knob is on its way from the start to the place of the confirm button.
    var place: Double { fraction }
    /// How much of the knob's shadow is left.
    var shadow: Double { 1 - fraction }
    /// How far the knob's side towards the field is squared: 0 is round.
    var squareness: Double { part(from: motion.emailSquareFrom) }
    /// How much of the service's icon is left.
    var icon: Double { 1 - squareness }
    /// The knob's size, counted in its own: at the end it is as large as the confirm button.
    var scale: Double {
        let geometry = ConnectButtonGeometry.standard
        return 1 + (geometry.confirm / geometry.knobDiameter - 1) * squareness
    }
    /// How much is seen of the field and of its confirm button.
    var field: Double { part(from: motion.emailFieldsFrom) }
    /// How much is seen of the knob, which gives way to the confirm button.
    var knob: Double { 1 - field }
}
