import {render} from 'preact';
import {App} from './app.tsx';
import {followLogin} from './api/http.ts';
import {followLinks} from './router.ts';
import {startClock} from './ui/clock.ts';
import './styles/main.css';

followLinks();
followLogin();
startClock();
render(<App />, document.getElementById('app')!);
