//! Code for the CPU of a checked module.

use super::{LinkError, Program, depth};
use crate::native::{Code, Engine, NativeError};

impl Program {
    /// Translates functions of the module, and all that they call, for the CPU. Where no machine
    /// code can be made, they are interpreted.
    ///
    /// # Errors
    /// [`LinkError::Forbidden`] for what cannot be translated, with file and line.
    pub(crate) fn compile(&self, entries: &[&str], engine: Engine) -> Result<Code, LinkError> {
        let text = self.text();
        let new = |engine| depth::on_stack(self.is_deep(), || Code::new(text, entries, engine));
        let code = match new(engine)? {
            Err(error) if error.platform => {
                log::info!("{} is interpreted. {}", self.name(), error.what);
                new(Engine::Interpreter)?
            }
            code => code,
        };
        code.map_err(|NativeError { line, what, remedy, .. }| {
            self.forbidden(self.line(line), what, remedy.to_owned())
        })
    }
}

#[cfg(test)]
mod tests;
