import Foundation

func pow10(_ exponent: Double) -> Double { pow(10, exponent) }

/// The unit vector at a part of a turn.
func direction(_ turn: Double) -> (x: Double, y: Double) { (cos(turn * 2 * .pi), sin(turn * 2 * .pi)) }
