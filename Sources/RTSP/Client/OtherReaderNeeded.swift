/// The underlying error of a session that ended before SETUP, because another reader supports more of the camera's
/// tracks. Errors of the protocol never have it.
package struct OtherReaderNeeded: Error {}
