// main.tsx - starts the portal: the session, the frame, and the page of each address
import { render } from "preact";
import { Frame } from "./frame";
import { findSession, who } from "./session";
import { SignIn } from "./pages/sign_in";
import { language, setLanguage } from "./texts";
import { startTheme } from "./theme";

function Portal() {
  if (who.value === undefined)
    return null;
  return who.value === null ? <SignIn /> : <Frame key={who.value.name} who={who.value} />;
}

startTheme();
setLanguage(language.value);
render(<Portal />, document.getElementById("portal")!);
void findSession();
